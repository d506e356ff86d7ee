package blame

// plumbingCRT is the rule of functions of the CRT. Their names, getpath or system, are those of other functions as
// well.
const plumbingCRT = "plumbing/crt"

// plumbing are containers, strings, smart pointers and thunks: whoever uses them is to blame, not they.
var plumbing = newTable([]coreRule{
	{plumbingCRT, LayerPlumbing, `fopen fopen_s wfopen wfopen_s fsopen wfsopen openfile wopenfile freopen fdopen popen wpopen tmpfile tmpfile_s common_fsopen* getbuf stbuf ftbuf getstream acrt_stdio_allocate_* alloc_osfhnd* ioinit initstdio
		getptd getptd_noexit acrt_getptd* vcrt_getptd* mtinit mtinitlocknum mtinitlocks* onexit onexit_nolock dllonexit register_onexit_function atexit setargv wsetargv setenvp wsetenvp common_setenvp* crtsetenv* putenv putenv_s wputenv wputenv_s common_putenv*
		setlocale wsetlocale create_locale wcreate_locale updatetlocinfo* setlocale_nolock* getenv_s dupenv_s wdupenv_s common_dupenv* fullpath wfullpath common_full_path* getcwd wgetcwd getdcwd wgetdcwd tempnam wtempnam mbtow_environ* wtomb_environ* crtGetEnvironmentStrings* crtGetStringType* crtLCMapString* crtCompareString*
		CxxThrowException localtime64 gmtime64 getgmtimebuf asctime wasctime strerror wcserror getpath* spawnv* wspawnv* system wsystem input_l output_l woutput_l* printf_l* vsnprintf_l* vfprintf_l* common_vfprintf* common_vsprintf* cenvarg* beginthreadex beginthread create_thread_parameter* initp_heap_handler* setmbcp* setvbuf`},
	{"plumbing/stl", LayerPlumbing, `std::* stdext::* gnu_cxx::* __gnu_cxx::* Concurrency::* concurrency::*`},
	{"plumbing/boost", LayerPlumbing, `boost::*`},
	{"plumbing/rust", LayerPlumbing, `alloc::vec::* alloc::string::* alloc::boxed::* alloc::rc::* alloc::sync::* alloc::collections::* alloc::slice::* alloc::str::* alloc::borrow::* alloc::fmt::* alloc::ffi::*
		core::ptr::* core::ops::* core::iter::* core::option::* core::result::* core::slice::* core::str::* core::fmt::* core::mem::* core::clone::* core::convert::* hashbrown::* <alloc::* <core::* <std::* <hashbrown::*`},
	{"plumbing/atl", LayerPlumbing, `ATL::CSimpleStringT* ATL::CAtl* ATL::CStringT* ATL::CComBSTR::* ATL::CComPtr* ATL::CComVariant::* ATL::CHeapPtr* ATL::CSimpleArray* ATL::CCRTAllocator::* ATL::CWin32Heap::* ATL::CTempBuffer* ATL::StrTraitATL*
		ATL::CSimpleMap* ATL::CComObject<* ATL::CComAggObject<* ATL::CComCreator<* ATL::CComClassFactory::* ATL::AtlAlloc* CComBSTR::* CComPtr<* CComVariant::* CComQIPtr<* CAtlStringMgr::*`},
	{"plumbing/mfc", LayerPlumbing, `CString::* CStringT<* CSimpleStringT<* CPlex::Create CPtrArray::* CObArray::* CByteArray::* CDWordArray::* CWordArray::* CUIntArray::* CStringArray::* CArray<* CList<* CMap<* CObList::* CPtrList::* CStringList::*
		CMapPtrToPtr::* CMapStringToPtr::* CMapStringToOb::* CMapStringToString::* CMapWordToPtr::* CMapWordToOb::* CMapPtrToWord::* CTypedPtr* CObject::operator~new AfxAlloc* CFixedAlloc::* CMemFile::* CRuntimeClass::CreateObject CAfxStringMgr::*`},
	{"plumbing/qt", LayerPlumbing, `QArrayData::* QTypedArrayData<* QArrayDataPointer<* QArrayDataOps* QtPrivate::* QListData::* QHashData::* QMapData* QVectorData::* QString::* QStringBuilder<* QByteArray::* QVector<* QList<* QHash<* QMap<* QSet<* QMultiHash<* QMultiMap<*
		QSharedPointer<* QScopedPointer<* QVarLengthArray<* QVariant::* QStringList::* QHashPrivate::* QExplicitlySharedDataPointer<* QSharedDataPointer<* qBadAlloc QContiguousCache* QLinkedList<*`},
	{"plumbing/com-support", LayerPlumbing,
		`bstr_t::* variant_t::* _bstr_t::* _variant_t::* com_util::* com_ptr_t<* _com_ptr_t<* Microsoft::WRL::* wil::* winrt::impl::* winrt::hstring::* winrt::com_ptr<* winrt::make* winrt::com_array<* winrt::detail::* Platform::String::*`},
	{"plumbing/gdiplus", LayerPlumbing, `Gdiplus::*`},
	{"plumbing/delphi", LayerPlumbing,
		`System.@* System.TObject.NewInstance System.TObject.Create System.DynArraySetLength System.SysUtils.Format* System.SysUtils.StrNew* System.SysUtils.WideFormat*`},
	{"plumbing/thunk", LayerPlumbing,
		`guard_dispatch_icall* guard_xfg_dispatch_icall* guard_check_icall* chkstk alloca_probe* *::<lambda_invoker>* <lambda_invoker>* *::<lambda>::invoke *::<lambda>::__invoke *::<lambda>::_FUN`},
	{"plumbing/serialisation", LayerPlumbing, `google::protobuf::* nlohmann::* rapidjson::* Json::* pugi::* tinyxml2::* TiXml* YAML::* fmt::* absl::container_internal::* absl::strings_internal::* absl::flat_hash_map<* absl::InlinedVector<* absl::Cord::* flatbuffers::* folly::fbstring_core* folly::fbvector* eastl::* msgpack::*
		simdjson::* cereal::* tinyxml_* spdlog::*`},
	{"plumbing/abseil", LayerPlumbing, `absl::*`},
	{"plumbing/glib", LayerPlumbing,
		`g_strdup* g_string_* g_array_* g_ptr_array_* g_hash_table_* g_list_append g_list_prepend g_slist_append g_slist_prepend g_new*`},
	{"plumbing/chromium", LayerPlumbing,
		`WTF::Vector<* WTF::VectorBuffer* WTF::HashTable<* WTF::HashMap<* WTF::StringImpl::* WTF::String::* base::internal::Invoker* base::internal::BindState* base::internal::VectorBuffer* base::internal::flat_tree* base::OnceCallback<* base::RepeatingCallback<* base::BindOnce* base::BindRepeating* nsTArray* nsTSubstring* nsTString* nsCOMPtr* mozilla::Vector<* mozilla::UniquePtr* mozilla::MakeUnique*`},
})
